//! Requests about topics.

use store_core::java_json::WriteOptions;

use super::{Answer, FAQ, Failure, NamesrvProcessor, success, success_with};
use crate::namesrv::ORDER_TOPIC_CONFIG;
use crate::remoting::headers::{
    ClusterRequestHeader, DeleteTopicFromNamesrvRequestHeader, GetRouteInfoRequestHeader,
    RegisterTopicRequestHeader,
};
use crate::remoting::protocol::TopicRouteData;
use crate::remoting::{RemotingCommand, mq_version, request_code, response_code};

impl NamesrvProcessor {
    pub(super) fn get_route_info(&self, request: &RemotingCommand) -> Answer {
        let header: GetRouteInfoRequestHeader = request.decode_header()?;
        let settings = self.settings();
        let ready_at = self.started + i64::from(settings.wait_seconds_for_service) * 1000;
        if settings.need_wait_for_service && self.now() < ready_at {
            return Err(Failure::Refused("name server not ready".to_owned()));
        }
        let Some(mut route) = self.routes.route_of(&header.topic) else {
            let remark = format!("No topic route info in name server for the topic: {}{FAQ}", header.topic);
            let answer = RemotingCommand::response_to(request, response_code::TOPIC_NOT_EXIST);
            return Ok(answer.with_remark(remark));
        };
        if settings.order_message_enable {
            route.order_topic_conf = self.kv_config.get(ORDER_TOPIC_CONFIG, &header.topic);
        }
        let standard =
            request.version >= mq_version::STANDARD_JSON_ROUTES || header.accept_standard_json_only;
        let layout = if standard { WriteOptions::BROWSER_COMPATIBLE } else { WriteOptions::BARE_KEYS };
        Ok(success(request).with_body(layout.to_vec(&route)?))
    }

    pub(super) fn list_topics(&self, request: &RemotingCommand) -> Answer {
        let settings = self.settings();
        let enabled = match request.code {
            request_code::GET_ALL_TOPIC_LIST_FROM_NAMESERVER => settings.enable_all_topic_list,
            request_code::GET_SYSTEM_TOPIC_LIST_FROM_NS => true,
            _ => settings.enable_topic_list,
        };
        if !enabled {
            return Err(Failure::Refused("disable".to_owned()));
        }
        let topics = match request.code {
            request_code::GET_TOPICS_BY_CLUSTER => {
                // Without the field Java finds no topics, which is no error.
                let header = request.decode_header::<ClusterRequestHeader>().unwrap_or_default();
                self.routes.topics_of_cluster(&header.cluster)
            }
            request_code::GET_SYSTEM_TOPIC_LIST_FROM_NS => self.routes.system_topics(),
            request_code::GET_UNIT_TOPIC_LIST => self.routes.unit_topics(),
            request_code::GET_HAS_UNIT_SUB_TOPIC_LIST => self.routes.unit_sub_topics(),
            request_code::GET_HAS_UNIT_SUB_UNUNIT_TOPIC_LIST => self.routes.unit_sub_ununit_topics(),
            _ => self.routes.all_topics(),
        };
        success_with(request, &topics)
    }

    pub(super) fn delete_topic(&self, request: &RemotingCommand) -> Answer {
        let header: DeleteTopicFromNamesrvRequestHeader = request.decode_header()?;
        self.routes.delete_topic(&header.topic, header.cluster_name.as_deref());
        Ok(success(request))
    }

    pub(super) fn register_topic(&self, request: &RemotingCommand) -> Answer {
        let header: RegisterTopicRequestHeader = request.decode_header()?;
        let route: TopicRouteData = request.decode_body()?;
        self.routes
            .register_topic(&header.topic, route.queue_datas)
            .map_err(|broker| Failure::Refused(format!("the broker {broker} is not registered")))?;
        Ok(success(request))
    }
}
