//! Consumer groups as administrators and slaves see them: settings, members, progress.

mod progress;

use super::topic_admin::data_version;
use crate::attributes::MetadataUpdateError;
use crate::broker_context::BrokerContext;
use crate::metadata_page::PageRequest;
use crate::processor::{Processor, Refusal, success};
use crate::remoting::headers::{
    ConsumerGroupRequestHeader, DeleteSubscriptionGroupRequestHeader, GetAllSubscriptionGroupRequestHeader,
    GetAllSubscriptionGroupResponseHeader, GroupRequestHeader, GroupTopicRequestHeader,
    ProducerGroupRequestHeader,
};
use crate::remoting::protocol::{
    QuerySubscriptionResponseBody, SubscriptionGroupConfig, SubscriptionGroupList, TopicList,
};
use crate::remoting::{Channel, RemotingCommand, Reply, request_code, response_code};
use std::sync::Arc;

/// The processor.
pub struct GroupAdminProcessor {
    context: Arc<BrokerContext>,
}

impl GroupAdminProcessor {
    /// A processor over the broker's parts.
    pub fn new(context: &Arc<BrokerContext>) -> Self {
        Self { context: Arc::clone(context) }
    }

    fn update(
        &self,
        groups: Vec<SubscriptionGroupConfig>,
        request: &RemotingCommand,
    ) -> Result<Reply, Refusal> {
        let mut changed = false;
        for group in groups {
            let updated = self.context.groups.update_subscription_group_config(group, self.context.now());
            changed |= updated.map_err(refuse_update)?.changed;
        }
        if changed {
            self.context.persist(&self.context.groups);
        }
        Ok(success(request).into())
    }

    fn delete(&self, request: &RemotingCommand) -> Result<Reply, Refusal> {
        let header: DeleteSubscriptionGroupRequestHeader = request.decode_header()?;
        let now = self.context.now();
        if self.context.groups.delete_subscription_group_config(&header.group_name, now) {
            self.context.persist(&self.context.groups);
        }
        if header.clean_offset {
            self.context.offsets.remove_group(&header.group_name, now);
        }
        Ok(success(request).into())
    }

    fn all_groups(&self, request: &RemotingCommand) -> Result<Reply, Refusal> {
        let header: GetAllSubscriptionGroupRequestHeader = request.decode_header()?;
        let page = self.context.groups.page(&PageRequest {
            sequence: header.group_seq,
            data_version: data_version(header.data_version.as_deref()),
            max_entries: header.max_group_num,
        });
        let total_group_num = i32::try_from(page.total).unwrap_or(i32::MAX);
        let fields = GetAllSubscriptionGroupResponseHeader { total_group_num };
        Ok(success(request).with_header(&fields).with_json_body(&page.wrapper)?.into())
    }

    fn group_config(&self, request: &RemotingCommand) -> Result<Reply, Refusal> {
        let GroupRequestHeader { group } = request.decode_header()?;
        match self.context.groups.get(&group) {
            Some(config) => Ok(success(request).with_json_body(&*config)?.into()),
            None => Err(Refusal::new(response_code::SUBSCRIPTION_GROUP_NOT_EXIST, "No group in this broker")),
        }
    }

    fn consumer_connections(&self, request: &RemotingCommand) -> Result<Reply, Refusal> {
        let ConsumerGroupRequestHeader { consumer_group } = request.decode_header()?;
        match self.context.consumers.consumer_connection(&consumer_group) {
            Some(connection) => Ok(success(request).with_json_body(&connection)?.into()),
            None => {
                let remark = format!("the consumer group[{consumer_group}] not online");
                Err(Refusal::new(response_code::CONSUMER_NOT_ONLINE, remark))
            }
        }
    }

    fn producer_connections(&self, request: &RemotingCommand) -> Result<Reply, Refusal> {
        let ProducerGroupRequestHeader { producer_group } = request.decode_header()?;
        match self.context.producers.producer_connection(&producer_group) {
            Some(connection) => Ok(success(request).with_json_body(&connection)?.into()),
            None => {
                let remark = format!("the producer group[{producer_group}] not exist");
                Err(Refusal::new(response_code::SYSTEM_ERROR, remark))
            }
        }
    }

    fn topics_of_group(&self, request: &RemotingCommand) -> Result<Reply, Refusal> {
        let GroupRequestHeader { group } = request.decode_header()?;
        let topic_list = self.context.offsets.topics_of_group(&group).into_iter().collect();
        let body = TopicList { topic_list, broker_addr: Some(self.context.config.broker_addr()) };
        Ok(success(request).with_json_body(&body)?.into())
    }

    fn subscription_of_group(&self, request: &RemotingCommand) -> Result<Reply, Refusal> {
        let GroupTopicRequestHeader { group, topic } = request.decode_header()?;
        let subscription =
            self.context.consumers.group_info(&group).and_then(|info| info.find_subscription(&topic));
        let body = QuerySubscriptionResponseBody {
            group,
            topic: Some(topic),
            subscription_data: subscription.map(|subscription| subscription.data().clone()),
        };
        Ok(success(request).with_json_body(&body)?.into())
    }
}

fn refuse_update(error: MetadataUpdateError) -> Refusal {
    let code = match error {
        MetadataUpdateError::InvalidParameter(_) => response_code::INVALID_PARAMETER,
        MetadataUpdateError::Attributes(_) => response_code::SYSTEM_ERROR,
    };
    Refusal::new(code, error.remark())
}

impl Processor for GroupAdminProcessor {
    fn process(&self, _channel: &Arc<Channel>, request: &RemotingCommand) -> Result<Reply, Refusal> {
        match request.code {
            request_code::UPDATE_AND_CREATE_SUBSCRIPTIONGROUP => {
                let group: SubscriptionGroupConfig = request.decode_body()?;
                self.update(vec![group], request)
            }
            request_code::UPDATE_AND_CREATE_SUBSCRIPTIONGROUP_LIST => {
                let list: SubscriptionGroupList = request.decode_body()?;
                self.update(list.group_config_list, request)
            }
            request_code::DELETE_SUBSCRIPTIONGROUP => self.delete(request),
            request_code::GET_ALL_SUBSCRIPTIONGROUP_CONFIG => self.all_groups(request),
            request_code::GET_SUBSCRIPTIONGROUP_CONFIG => self.group_config(request),
            request_code::GET_CONSUMER_CONNECTION_LIST => self.consumer_connections(request),
            request_code::GET_PRODUCER_CONNECTION_LIST => self.producer_connections(request),
            request_code::GET_ALL_PRODUCER_INFO => {
                Ok(success(request).with_json_body(&self.context.producers.producer_table())?.into())
            }
            request_code::GET_CONSUME_STATS => progress::consume_stats(&self.context, request),
            request_code::QUERY_TOPICS_BY_CONSUMER => self.topics_of_group(request),
            request_code::QUERY_SUBSCRIPTION_BY_CONSUMER => self.subscription_of_group(request),
            _ => progress::reset_offset(&self.context, request),
        }
    }
}
