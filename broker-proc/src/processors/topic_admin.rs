//! Topics as administrators and slaves see them: create, delete, list, statistics.

use crate::attributes::MetadataUpdateError;
use crate::attributes::parse_attributes;
use crate::broker_context::BrokerContext;
use crate::metadata_page::PageRequest;
use crate::processor::{Processor, Refusal, success};
use crate::remoting::headers::{
    CreateTopicRequestHeader, GetAllTopicConfigRequestHeader, GetAllTopicConfigResponseHeader,
    GetTopicConfigRequestHeader, TopicRequestHeader,
};
use crate::remoting::protocol::{
    CreateTopicListRequestBody, DataVersion, GroupList, MessageQueue, TopicConfig,
    TopicConfigAndMappingSerializeWrapper, TopicConfigAndQueueMapping, TopicFilterType, TopicList,
    TopicOffset, TopicStatsTable,
};
use crate::remoting::{Channel, RemotingCommand, Reply, request_code, response_code};
use std::collections::BTreeMap;
use std::sync::Arc;
use store_core::java_json;

/// The processor.
pub struct TopicAdminProcessor {
    context: Arc<BrokerContext>,
}

impl TopicAdminProcessor {
    /// A processor over the broker's parts.
    pub fn new(context: &Arc<BrokerContext>) -> Self {
        Self { context: Arc::clone(context) }
    }

    fn create(&self, request: &RemotingCommand) -> Result<Reply, Refusal> {
        let header: CreateTopicRequestHeader = request.decode_header()?;
        let attributes = parse_attributes(header.attributes.as_deref().unwrap_or(""))
            .map_err(|remark| Refusal::new(response_code::SYSTEM_ERROR, remark))?;
        let topic_filter_type = match header.topic_filter_type.as_str() {
            "MULTI_TAG" => TopicFilterType::MultiTag,
            _ => TopicFilterType::SingleTag,
        };
        let requested = TopicConfig {
            topic_name: header.topic,
            read_queue_nums: header.read_queue_nums,
            write_queue_nums: header.write_queue_nums,
            perm: header.perm,
            topic_filter_type,
            topic_sys_flag: header.topic_sys_flag.unwrap_or(0),
            order: header.order,
            attributes,
        };
        let changed = self.update(requested)?;
        Ok(self.answer_when_registered(request, changed))
    }

    fn create_list(&self, request: &RemotingCommand) -> Result<Reply, Refusal> {
        let body: CreateTopicListRequestBody = request.decode_body()?;
        let mut changed = false;
        for topic in body.topic_config_list {
            changed |= self.update(topic)?;
        }
        Ok(self.answer_when_registered(request, changed))
    }

    fn update(&self, requested: TopicConfig) -> Result<bool, Refusal> {
        let updated = self.context.topics.update_topic_config(requested, self.context.now());
        updated.map(|made| made.changed).map_err(|error| {
            let code = match error {
                MetadataUpdateError::InvalidParameter(_) => response_code::INVALID_PARAMETER,
                MetadataUpdateError::Attributes(_) => response_code::SYSTEM_ERROR,
            };
            Refusal::new(code, error.remark())
        })
    }

    /// A changed topic table is saved and known to the name servers before the caller hears of it.
    fn answer_when_registered(&self, request: &RemotingCommand, changed: bool) -> Reply {
        let answer = success(request);
        if !changed {
            return answer.into();
        }
        self.context.persist(&self.context.topics);
        let context = Arc::clone(&self.context);
        Reply::later(async move {
            context.registration.register(&context).await;
            answer
        })
    }

    fn delete(&self, request: &RemotingCommand) -> Result<Reply, Refusal> {
        let TopicRequestHeader { topic } = request.decode_header()?;
        let context = &self.context;
        let invalid = |remark| Refusal::new(response_code::INVALID_PARAMETER, remark);
        context.topics.check_deletable(&topic).map_err(invalid)?;
        let now = context.now();
        if context.topics.delete_topic_config(&topic, now) {
            context.persist(&context.topics);
        }
        context.offsets.remove_topic(&topic, now);
        context.blocking(|| context.store.delete_topics(&[&topic])).map_err(|error| {
            Refusal::new(response_code::SYSTEM_ERROR, format!("files of topic[{topic}]: {error}"))
        })?;
        Ok(success(request).into())
    }

    fn all_topics(&self, request: &RemotingCommand) -> Result<Reply, Refusal> {
        let header: GetAllTopicConfigRequestHeader = request.decode_header()?;
        let page = self.context.topics.page(&PageRequest {
            sequence: header.topic_seq,
            data_version: data_version(header.data_version.as_deref()),
            max_entries: header.max_topic_num,
        });
        let body = TopicConfigAndMappingSerializeWrapper {
            data_version: page.data_version,
            topic_config_table: page.topics,
            ..Default::default()
        };
        let fields = GetAllTopicConfigResponseHeader {
            total_topic_num: i32::try_from(page.total).unwrap_or(i32::MAX),
        };
        Ok(success(request).with_header(&fields).with_json_body(&body)?.into())
    }

    fn topic_config(&self, request: &RemotingCommand) -> Result<Reply, Refusal> {
        let header: GetTopicConfigRequestHeader = request.decode_header()?;
        let topic_config =
            TopicConfig::clone(&*self.find(&header.topic, "No topic in this broker. topic: ")?);
        let body = TopicConfigAndQueueMapping { topic_config, mapping_detail: None };
        Ok(success(request).with_json_body(&body)?.into())
    }

    fn find(&self, topic: &str, remark: &str) -> Result<Arc<TopicConfig>, Refusal> {
        let found = self.context.topics.select_topic_config(topic);
        found.ok_or_else(|| Refusal::new(response_code::TOPIC_NOT_EXIST, format!("{remark}{topic}")))
    }

    fn stats(&self, request: &RemotingCommand) -> Result<Reply, Refusal> {
        let TopicRequestHeader { topic } = request.decode_header()?;
        let config = self.find(&topic, "topic not exist: ")?;
        let store = &self.context.store;
        let mut offset_table = BTreeMap::new();
        for queue_id in 0..config.read_queue_nums.max(config.write_queue_nums) {
            let range = store.offsets(&topic, queue_id);
            let newest = range.max.checked_sub(1).and_then(|last| store.store_time(&topic, queue_id, last));
            let offset = TopicOffset {
                min_offset: i64::try_from(range.min).unwrap_or(i64::MAX),
                max_offset: i64::try_from(range.max).unwrap_or(i64::MAX),
                last_update_timestamp: newest.unwrap_or(0),
            };
            let broker_name = self.context.config.broker_name.clone();
            offset_table.insert(MessageQueue { topic: topic.clone(), broker_name, queue_id }, offset);
        }
        Ok(success(request).with_json_body(&TopicStatsTable { offset_table, topic_put_tps: 0.0 })?.into())
    }

    fn system_topics(&self, request: &RemotingCommand) -> Result<Reply, Refusal> {
        let topic_list = self.context.topics.validator().system_topics().map(str::to_owned).collect();
        Ok(success(request).with_json_body(&TopicList { topic_list, broker_addr: None })?.into())
    }

    fn consumed_by(&self, request: &RemotingCommand) -> Result<Reply, Refusal> {
        let TopicRequestHeader { topic } = request.decode_header()?;
        let mut groups = self.context.consumers.groups_of_topic(&topic);
        groups.extend(self.context.offsets.groups_of_topic(&topic));
        Ok(success(request).with_json_body(&GroupList { group_list: groups.into_iter().collect() })?.into())
    }
}

/// A version a caller sent as JSON text; nonsense counts as none.
pub(super) fn data_version(text: Option<&str>) -> Option<DataVersion> {
    java_json::from_slice(text?.as_bytes()).ok()
}

impl Processor for TopicAdminProcessor {
    fn process(&self, _channel: &Arc<Channel>, request: &RemotingCommand) -> Result<Reply, Refusal> {
        match request.code {
            request_code::UPDATE_AND_CREATE_TOPIC => self.create(request),
            request_code::UPDATE_AND_CREATE_TOPIC_LIST => self.create_list(request),
            request_code::DELETE_TOPIC_IN_BROKER => self.delete(request),
            request_code::GET_ALL_TOPIC_CONFIG => self.all_topics(request),
            request_code::GET_TOPIC_CONFIG => self.topic_config(request),
            request_code::GET_TOPIC_STATS_INFO => self.stats(request),
            request_code::GET_SYSTEM_TOPIC_LIST_FROM_BROKER => self.system_topics(request),
            _ => self.consumed_by(request),
        }
    }
}
